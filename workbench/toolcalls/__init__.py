"""Tool calls as models write them: formats in text, arguments, and the schemas they are held against."""
