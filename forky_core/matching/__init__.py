"""From a provider's array of messages to a place in a tree: keys, and the search for the array's path.

Pure functions like those of merge/ and context/: nothing here reads or writes a store. The array is decoded by wire/;
the verbs are in conversation/recording/.
"""
