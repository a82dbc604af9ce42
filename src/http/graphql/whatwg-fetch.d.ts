// Replaces the types of @whatwg-node/fetch, which graphql-yoga imports (tsconfig.base.json). The original ones bring in the DOM types, and
// every file would be checked against those instead of the types of a Worker.
export type FetchAPI = Pick<typeof globalThis, 'fetch' | 'Request' | 'Response' | 'Headers' | 'FormData' | 'ReadableStream' | 'URL'>
export type FormDataLimits = Record<string, number>
export declare function createFetch(options?: object): FetchAPI
