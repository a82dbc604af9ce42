/** Part of the inventory, so that the plane can distinguish agents while a fleet is upgraded. */
export const AGENT_VERSION = '0.1.0'
