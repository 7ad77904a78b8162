"""The intervals of audits, by their name among audits: they are those of `swag_af.data.interval`."""

from swag_af.data.interval import (
    Difference,
    interval,
    paired_difference,
    ratio_interval,
    t_quantile,
    variance_over_groups,
)

__all__ = ["Difference", "interval", "paired_difference", "ratio_interval", "t_quantile", "variance_over_groups"]
