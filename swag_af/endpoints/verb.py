"""The verb `probe-endpoint`: what a server can do, tried."""

from swag_af.data.errors import InputError, takes_options
from swag_af.endpoints.client import Endpoint
from swag_af.endpoints.contract import Abilities
from swag_af.endpoints.options import ProbeEndpointOptions


@takes_options
def probe_endpoint(options: ProbeEndpointOptions) -> Abilities:
    """Try ten tiny requests; what is kept in a journal is not asked again.

    Raises InputError for a server that cannot be reached, or gives no text at either address.
    """
    endpoint = Endpoint(options.url, options.endpoint, journal=options.journal)
    abilities = endpoint.abilities()
    if not abilities.completions and not abilities.chat:
        raise InputError(f"{endpoint.url}: gave no text at /completions and /chat/completions. See its log.")
    return abilities
