// Labels of the containers and networks of an agent.

/** Id of the agent's host. */
export const HOST_LABEL = 'podplane.host'
export const ACCOUNT_LABEL = 'podplane.account'
export const PAYER_LABEL = 'podplane.payer'
export const WORKLOAD_LABEL = 'podplane.workload'
export const GPUS_LABEL = 'podplane.gpus'
export const PORTS_LABEL = 'podplane.ports'
/** Hash of the worker's key, so that the next agent process can check the key before the plane sends it again. */
export const RELAY_KEY_LABEL = 'podplane.relay-key'
/** Of networks; its value is the agent's key. */
export const NETWORK_LABEL = 'podplane.network'
