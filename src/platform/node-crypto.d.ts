/** The parts of Node's API that the Worker uses (`nodejs_compat`); Node's own types would declare far more than a Worker has. */
declare module 'node:crypto' {
  export function createHmac(algorithm: 'sha256', key: Uint8Array): Hmac
  export function createCipheriv(algorithm: 'aes-256-gcm', key: Uint8Array, iv: Uint8Array): Cipher
  export function createDecipheriv(algorithm: 'aes-256-gcm', key: Uint8Array, iv: Uint8Array): Decipher
  export function hkdfSync(digest: 'sha256', secret: Uint8Array, salt: Uint8Array, info: Uint8Array, bytes: number): ArrayBuffer
  interface Hmac {
    update(data: string | Uint8Array): this
    digest(encoding: 'base64'): string
  }
  interface Cipher {
    setAAD(data: Uint8Array): this
    update(data: Uint8Array): Uint8Array
    final(): Uint8Array
    getAuthTag(): Uint8Array
  }
  interface Decipher {
    setAAD(data: Uint8Array): this
    setAuthTag(tag: Uint8Array): this
    update(data: Uint8Array): Uint8Array
    final(): Uint8Array
  }
}
