HOLES = {}
BEYOND = {}
