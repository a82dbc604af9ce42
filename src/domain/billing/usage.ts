/** What can be charged, by the part of the bill that it belongs to. */
export const USAGE_KINDS = ['POD', 'SERVERLESS', 'NETWORK_VOLUME', 'CLUSTER'] as const
export type UsageKind = (typeof USAGE_KINDS)[number]
