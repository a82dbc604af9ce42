import { z } from 'zod'
import { orChangePlan } from '../change-plan.ts'
import { LINE_TEXT } from '../fields.ts'
import { form } from '../forms.ts'

/** One line of an `authorized_keys` file (ACC-1). */
const SSH_PUBLIC_KEY = form(/^(ssh|ecdsa|sk)-[^\s]+ [^\s]+([ \t][^\n\r]*)?$/, 'a line such as ssh-ed25519 AAAA… me@example.com')
/** The keys go into an environment variable and a file, and all members see their comments (GEN-6, EDG-20). */
const SshPublicKey = z.string().regex(SSH_PUBLIC_KEY).regex(LINE_TEXT)
const EXAMPLE = { keys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB0b7Yt2mJk1c9vV5m4wq8n3x6z0s2d4f6g8h0j2k4l6 me@example.com'] }
const EXAMPLE_MAKER = { userId: 'u7h2k9m4p1q8s5v3', addedAt: '2026-07-01T09:30:00.000Z', endedBecause: null }

/** The user who added a key (DER-34). */
const SshKeyMaker = z
  .object({
    userId: z.string().nullable().meta({ description: 'Id of the user who added it; null: unknown, and the key is valid.' }),
    addedAt: z.string().nullable().meta({ description: 'When it was added; null: unknown.' }),
    endedBecause: z.string().nullable().meta({ description: 'Why the key is not valid; null: it is valid.' }),
  })
  .meta({ id: 'SshKeyMaker', example: EXAMPLE_MAKER })

export const SshKeys = z
  .object({
    keys: z.array(z.string()).meta({ description: 'Public keys as they were registered.' }),
    makers: z.array(SshKeyMaker).meta({ description: 'The user who added each key, in the same order.' }),
  })
  .meta({ id: 'SshKeys', example: { ...EXAMPLE, makers: [EXAMPLE_MAKER] } })
export type SshKeys = z.infer<typeof SshKeys>

export const UpdateSshKeysRequest = z
  .strictObject({ keys: z.array(SshPublicKey).meta({ description: 'The whole set; an empty list clears it.' }) })
  .meta({ id: 'UpdateSshKeysRequest', example: EXAMPLE })
export type UpdateSshKeysRequest = z.infer<typeof UpdateSshKeysRequest>

/** Answer of replacing the keys: the keys, or with `dryRun` the plan (DRY-10). */
export const SshKeysOrChangePlan = orChangePlan('SshKeysOrChangePlan', SshKeys)
