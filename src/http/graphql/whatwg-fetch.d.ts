// In place of the types of @whatwg-node/fetch, which graphql-yoga names (tsconfig.base.json): those bring the types of a browser along, and
// every file would be checked against them instead of against those of a Worker.
export type FetchAPI = Pick<typeof globalThis, 'fetch' | 'Request' | 'Response' | 'Headers' | 'FormData' | 'ReadableStream' | 'URL'>
export type FormDataLimits = Record<string, number>
export declare function createFetch(options?: object): FetchAPI
