import { sshKeysOf } from '../../../src/services/accounts/ssh-keys.ts'
import { api, createAccount, createKey, describe, env, expect, it, teamOf } from '../../support/harness.ts'
import { statusesWith } from '../../support/resources.ts'

const PATH = '/v2/account/ssh-keys'
const LINE = '$.keys[0]: does not match pattern: want a line such as ssh-ed25519 AAAA… me@example.com'
const NO_CONTROL = '$.keys[0]: does not match pattern: want one line without control characters but the tab'
const ED25519 = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB0b7Yt2 me@example.com'

describe('SSH keys', () => {
  it('[ACC-1] PUT replaces the whole set, GET reads it, an empty list clears it', async () => {
    const { key } = await createAccount()
    expect(await api(key).get(PATH)).toMatchObject({ status: 200, body: { keys: [] } })
    const two = [ED25519, 'sk-ssh-ed25519@openssh.com AAAA\ttwo words of comment']
    expect(await api(key).put(PATH, { keys: two })).toMatchObject({ status: 200, body: { keys: two } })
    expect((await api(key).get(PATH)).body).toEqual({ keys: two })
    const other = ['ecdsa-sha2-nistp256 AAAAE2Vj']
    expect((await api(key).put(PATH, { keys: other })).body).toEqual({ keys: other })
    expect((await api(key).get(PATH)).body).toEqual({ keys: other })
    expect((await api(key).put(PATH, { keys: [] })).body).toEqual({ keys: [] })
    expect((await api(key).get(PATH)).body).toEqual({ keys: [] })
  })

  it('[ACC-1][POD-20] belong to the account, whichever of its keys asks, and are what its pods get', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    await api(mine.key).put(PATH, { keys: [ED25519] })
    expect((await api((await createKey(mine.userId)).key).get(PATH)).body).toEqual({ keys: [ED25519] })
    expect((await api(theirs.key).get(PATH)).body).toEqual({ keys: [] })
    expect(await sshKeysOf(env, await teamOf(mine))).toEqual([ED25519])
    expect(await sshKeysOf(env, await teamOf(theirs))).toEqual([])
  })

  it('[AUD-1] a change is noted in its batch: who, with which key, what, before and after', async () => {
    const { key, keyId, userId, ...account } = await createAccount()
    const team = await teamOf({ key, keyId, userId, ...account })
    await api(key).put(PATH, { keys: [ED25519] })
    const reply = await api(key).put(PATH, { keys: [] })
    const rows = await env.DB.prepare("SELECT * FROM audit WHERE team_id = ? AND resource_kind = 'ssh-keys' ORDER BY rowid")
      .bind(team)
      .all()
    expect(rows.results).toHaveLength(2)
    expect(rows.results[1]).toEqual({
      id: expect.stringMatching(/^[0-9a-z]{19}$/),
      at: expect.any(Number),
      team_id: team,
      actor_kind: 'KEY',
      user_id: userId,
      credential_id: keyId,
      action: 'ssh-keys.replace',
      resource_kind: 'ssh-keys',
      resource_id: team,
      request_id: reply.headers.get('x-request-id'),
      before: JSON.stringify({ keys: [ED25519] }),
      after: JSON.stringify({ keys: [] }),
    })
  })

  const REFUSED: [string, unknown, string[]][] = [
    [
      '[ACC-1] a key without its type',
      { keys: [ED25519, 'AAAA'] },
      ['$.keys[1]: does not match pattern: want a line such as ssh-ed25519 AAAA… me@example.com'],
    ],
    ['[ACC-1] two keys in one text', { keys: [`${ED25519}\n${ED25519}`] }, [LINE, NO_CONTROL]],
    ['[GEN-6][RES-6] NUL in a comment', { keys: [`${ED25519}\u0000`] }, [NO_CONTROL]],
    ['[GEN-6][RES-6] an escape in a comment', { keys: [`${ED25519} \u001b[2J`] }, [NO_CONTROL]],
    ['[STRICT-1] an unknown member', { keys: [], bogus: 1 }, ["$: additional properties 'bogus' not allowed"]],
    ['[STRICT-1] __proto__', '{"keys":[],"__proto__":{}}', ["$: additional properties '__proto__' not allowed"]],
    ['[STRICT-2] null', { keys: null }, ['$.keys: got null, want array']],
    ['[ERR-4] no keys', {}, ["$: missing property 'keys'"]],
    ['[ERR-4] a number', { keys: [1] }, ['$.keys[0]: got number, want string']],
  ]
  it.each(REFUSED)('%s is 422', async (_title, body, errors) => {
    const { key } = await createAccount()
    await api(key).put(PATH, { keys: [ED25519] })
    expect(await api(key).put(PATH, body)).toMatchObject({ status: 422, body: { errors } })
    expect((await api(key).get(PATH)).body).toEqual({ keys: [ED25519] })
  })

  it('[AUT-5] each method takes its scope', async () => {
    const account = await createAccount()
    const calls = [
      ['get', PATH],
      ['put', PATH, { keys: [] }],
    ] as const
    expect(
      await statusesWith(
        account,
        'account:read',
        calls.map((call) => [...call]),
      ),
    ).toEqual([200, 403])
    expect(
      await statusesWith(
        account,
        'account:write',
        calls.map((call) => [...call]),
      ),
    ).toEqual([403, 200])
    expect(
      await statusesWith(
        account,
        'pods:write',
        calls.map((call) => [...call]),
      ),
    ).toEqual([403, 403])
  })
})
