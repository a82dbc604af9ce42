/** Sent in the inventory, so that the plane can tell agents apart while a fleet is upgraded. */
export const AGENT_VERSION = '0.1.0'
