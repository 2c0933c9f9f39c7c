"""Slow tests run when asked for: `./goishi test --slow`."""


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run the slow tests too: minutes of training and matches")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--slow") or "slow" in (config.getoption("-m") or ""):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if item not in slow]
