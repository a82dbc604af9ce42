import { sshKeysOf } from '../../../../src/services/accounts/ssh-keys.ts'
import {
  api,
  createAccount,
  createKey,
  createKeyIn,
  createOrganization,
  describe,
  env,
  expect,
  it,
  joinTeam,
  teamOf,
} from '../../../support/harness.ts'
import { statusesWith } from '../../../support/pods/resources.ts'

const PATH = '/v2/account/ssh-keys'
const LINE = '$.keys[0]: does not match pattern: want a line such as ssh-ed25519 AAAA… me@example.com'
const LINE_TEXT = '$.keys[0]: does not match pattern: want one line without control characters and marks of direction; tabs may stand in it'
const ED25519 = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB0b7Yt2 me@example.com'

describe('SSH keys', () => {
  it('[ACC-1] PUT replaces the whole set, GET reads it, an empty list clears it', async () => {
    const { key } = await createAccount()
    expect(await api(key).get(PATH)).toMatchObject({ status: 200, body: { keys: [], makers: [] } })
    const two = [ED25519, 'sk-ssh-ed25519@openssh.com AAAA\ttwo words of comment']
    expect(await api(key).put(PATH, { keys: two })).toMatchObject({ status: 200, body: { keys: two } })
    expect((await api(key).get(PATH)).body).toMatchObject({ keys: two })
    const other = ['ecdsa-sha2-nistp256 AAAAE2Vj']
    expect((await api(key).put(PATH, { keys: other })).body).toMatchObject({ keys: other })
    expect((await api(key).get(PATH)).body).toMatchObject({ keys: other })
    expect((await api(key).put(PATH, { keys: [] })).body).toMatchObject({ keys: [] })
    expect((await api(key).get(PATH)).body).toMatchObject({ keys: [] })
  })

  it('[ACC-1][POD-20] belong to the account, whichever of its keys is used, and are those that its pods get', async () => {
    const [mine, theirs] = [await createAccount(), await createAccount()]
    await api(mine.key).put(PATH, { keys: [ED25519] })
    expect((await api((await createKey(mine.userId)).key).get(PATH)).body).toMatchObject({ keys: [ED25519] })
    expect((await api(theirs.key).get(PATH)).body).toMatchObject({ keys: [] })
    expect(await sshKeysOf(env, await teamOf(mine))).toEqual([ED25519])
    expect(await sshKeysOf(env, await teamOf(theirs))).toEqual([])
  })

  it('[DER-33] [DER-34] name the user who added each, and count while that member may add keys', async () => {
    const [boss, member] = [await createAccount(), await createAccount()]
    const org = await createOrganization(boss.key)
    await joinTeam(org, member, 'ADMIN')
    const [bossKey, memberKey] = [(await createKeyIn(org, boss)).key, (await createKeyIn(org, member)).key]
    const [mine, theirs] = [`${ED25519}-boss`, `${ED25519}-member`]
    await api(memberKey).put(PATH, { keys: [theirs] })
    const both = await api(bossKey).put(PATH, { keys: [mine, theirs] })
    const by = ({ userId }: { userId: string }, endedBecause: string | null = null) => ({
      userId,
      addedAt: expect.any(String),
      endedBecause,
    })
    expect(both.body).toEqual({ keys: [mine, theirs], makers: [by(boss), by(member)] })
    expect(await sshKeysOf(env, org)).toEqual([mine, theirs])
    const path = `/v2/organizations/${org}/members/${member.userId}`
    expect((await api(boss.key).patch(path, { role: 'DEV' })).status).toBe(200)
    const demoted = by(member, 'the user who added it has the role DEV, which may not add keys')
    expect((await api(bossKey).get(PATH)).body).toEqual({ keys: [mine, theirs], makers: [by(boss), demoted] })
    expect(await sshKeysOf(env, org)).toEqual([mine])
    expect((await api(boss.key).delete(path)).status).toBe(204)
    await joinTeam(org, member, 'ADMIN')
    await env.DB.prepare('UPDATE memberships SET created_at = ? WHERE team_id = ? AND user_id = ?')
      .bind(Date.now() + 1, org, member.userId)
      .run()
    // Keys that the same PUT repeats keep their maker, and a member who has rejoined has added none.
    const again = await api(bossKey).put(PATH, { keys: [theirs, mine] })
    expect(again.body.makers).toEqual([by(member, 'the user who added it has left and rejoined the account'), by(boss)])
    expect(await sshKeysOf(env, org)).toEqual([mine])
    await api(bossKey).put(PATH, { keys: [mine] })
    expect((await api(bossKey).put(PATH, { keys: [theirs, mine] })).body.makers).toEqual([by(boss), by(boss)])
    expect(await sshKeysOf(env, org)).toEqual([theirs, mine])
  })

  it('[DER-34] from before, without a known maker, count', async () => {
    const account = await createAccount()
    await api(account.key).put(PATH, { keys: [ED25519] })
    await env.DB.prepare('UPDATE ssh_keys SET makers = NULL WHERE team_id = ?')
      .bind(await teamOf(account))
      .run()
    const unknown = { userId: null, addedAt: null, endedBecause: null }
    expect((await api(account.key).get(PATH)).body).toEqual({ keys: [ED25519], makers: [unknown] })
    expect((await api(account.key).put(PATH, { keys: [ED25519] })).body.makers).toEqual([unknown])
    expect(await sshKeysOf(env, await teamOf(account))).toEqual([ED25519])
  })

  it('[AUD-1] have their changes in the audit log, in the same batch: who, with which key, what, before and after', async () => {
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
    ['[ACC-1] two keys in one text', { keys: [`${ED25519}\n${ED25519}`] }, [LINE, LINE_TEXT]],
    ['[GEN-6][RES-6] NUL in a comment', { keys: [`${ED25519}\u0000`] }, [LINE_TEXT]],
    ['[GEN-6][RES-6] an escape in a comment', { keys: [`${ED25519} \u001b[2J`] }, [LINE_TEXT]],
    ['[EDG-20] a control character of the second set in a comment', { keys: [`${ED25519} \u009b2J`] }, [LINE_TEXT]],
    ['[EDG-20] a mark that turns text around in a comment', { keys: [`${ED25519} \u202egpj.exe`] }, [LINE_TEXT]],
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
    expect((await api(key).get(PATH)).body).toMatchObject({ keys: [ED25519] })
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
