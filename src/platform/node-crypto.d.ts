/** What the Worker uses of Node's API (`nodejs_compat`); the types of Node as a whole would claim far more than is there. */
declare module 'node:crypto' {
  export function createHmac(algorithm: 'sha256', key: Uint8Array): Hmac
  interface Hmac {
    update(data: string | Uint8Array): this
    digest(encoding: 'base64'): string
  }
}
