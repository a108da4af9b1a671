"""What comes in from elsewhere, and what goes out."""
