"""A response kind, a response method, a format and a platform for evalsite, in a package of their own."""
