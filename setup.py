"""The packages of the wheel: the library, and beside it the folder `forky_app` with what `streamlit run app.py` needs.

pyproject.toml says everything else. It cannot say this: `forky_app` is the top of the checkout under another name, so
that app.py and pages/ stay where they are here and fill no common names (`app`, `pages`) where they are installed.
"""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["forky_core", "forky_core.*"]),
        "forky_app",
    ],
    package_dir={"forky_app": "."},
    # This file is none of them. setuptools leaves it out when it knows its name, which a build by pip or uv hides.
    script_name="setup.py",
)
