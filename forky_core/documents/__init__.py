"""Documents that answers may quote: reading files, cutting them into chunks, storing and searching them."""
