import { z } from 'zod'
import { ExecTarget, TcpTarget } from './tunnel/frames.ts'

/**
 * The protocol between the SSH proxy and the plane: a third, private contract, changed only by addition. Every request carries the proxy's
 * own key as a bearer token.
 *
 *   POST /ssh/v1/admit   `SshAdmit` → 204, or 403: not for this user and key. With `connect` the plane writes to the audit log.
 *   GET  /ssh/v1/open    WebSocket of channels (`tunnel/channels.ts`); header `SSH_OPEN_HEADER`: the login and the target
 */
export const SSH_ADMIT_PATH = '/ssh/v1/admit'
export const SSH_OPEN_PATH = '/ssh/v1/open'
/** JSON `SshOpen` in base64url. */
export const SSH_OPEN_HEADER = 'podplane-ssh-open'
/** Maximum length of that header's value, short enough for all servers and proxies. */
export const MAX_SSH_OPEN_CHARS = 12 * 1024

/** A login: the user name of the pod, `<pod id>-<8 hex>`, and a public key, `<type> <base64>`. */
export const SshLogin = z.object({ user: z.string().max(128), key: z.string().max(8_192) })
export type SshLogin = z.infer<typeof SshLogin>

export const SshAdmit = SshLogin.extend({
  /** True: the client has proven possession of the key; false: it has only offered it. */
  connect: z.boolean(),
  /** Address of the client. */
  address: z.string().max(64),
})
export type SshAdmit = z.infer<typeof SshAdmit>

export const SshTarget = z.discriminatedUnion('kind', [
  ExecTarget.pick({ kind: true, command: true, terminal: true }),
  TcpTarget.pick({ kind: true, port: true }),
])
export type SshTarget = z.infer<typeof SshTarget>

export const SshOpen = SshLogin.extend({ target: SshTarget })
export type SshOpen = z.infer<typeof SshOpen>
