"""The library: what `import evalsite` offers to notebooks and scripts, and what the command line prints.

It needs no Django settings and no database. `evalsite/__init__.py` imports each name when it is first used.
"""
