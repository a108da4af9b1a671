"""The probe lab and its stepping screen, and the parts that they hold."""
