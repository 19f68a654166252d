"""What Values remember, read off as flat arrays that every view is made from."""
