"""The self-contained web page: one file that anybody can read and that gives the conversation back."""
