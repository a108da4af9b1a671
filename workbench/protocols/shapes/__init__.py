"""Wire shapes that several protocols share, one package a shape; named for the shape, never for a company."""
