/** The kinds of charged resources: each has its own part of the bill. */
export const USAGE_KINDS = ['POD', 'SERVERLESS', 'NETWORK_VOLUME', 'CLUSTER'] as const
export type UsageKind = (typeof USAGE_KINDS)[number]
