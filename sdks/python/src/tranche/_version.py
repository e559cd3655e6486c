# The version of this package: the only place that states it; pyproject.toml and the user agent read it from here.
# Nothing else belongs here.

__version__ = "0.1.0"
