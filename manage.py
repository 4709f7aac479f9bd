#!/usr/bin/env python
"""Run evalsite's commands from a checkout: `python manage.py help` lists them."""

import sys

from evalsite.command import run

if __name__ == "__main__":
    run(sys.argv)
