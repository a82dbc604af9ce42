import type { Command } from 'commander'
import { columns } from '../output/columns.ts'
import { act, examples, noun, plannable, planOne, wholeNumber } from '../session/act.ts'
import type { Answer } from '../session/pages.ts'

type Role = Answer<'getOrganization'>['role']
type Member = Answer<'getOrganization'>['members'][number]
type Invitation = Answer<'listInvitations'>['invitations'][number]

interface Asked {
  plan?: boolean
}

const MEMBER_COLUMNS = columns<Member>('userId', 'email', 'role', 'joinedAt')

/** Adds the commands for organizations, their members and their invitations. */
export function addTeams(program: Command): void {
  addOrganizations(program)
  addMembers(program)
  addInvitations(program)
}

function addOrganizations(program: Command): void {
  const organizations = noun(program, 'organizations', ['organization', 'org', 'orgs', 'teams'], 'accounts that several people share')
  act(organizations.command('list').alias('ls').description('list your organizations'), async (session) => {
    const answer = await session.api.listOrganizations()
    const shown = columns<(typeof answer.organizations)[number]>('id', 'name', 'role', 'createdAt')
    session.out.list(answer, answer.organizations, {
      columns: shown,
      idOf: ({ id }) => id,
      empty: 'no organizations; create one with podplane organizations create <name>',
    })
  })
  act(
    organizations.command('get <organization>').description('show an organization with its members'),
    async (session, _options, id: string) => {
      session.out.record(await session.api.getOrganization({ path: { id } }), id)
    },
  )
  const create = organizations.command('create <name>').description('create an organization; you become its owner')
  act(create, async (session, _options, name: string) => {
    const made = await session.api.createOrganization({ body: { name } })
    session.out.done(made, made.id, `organization ${made.name} is created; podplane invitations create ${made.id} <email> invites a user`)
  })
  examples(create, 'organizations create "Acme Labs"')
  act(
    organizations.command('rename <organization> <name>').description('rename an organization'),
    async (session, _options, id: string, name: string) => {
      session.out.done(
        await session.api.updateOrganization({ path: { id }, body: { name } }),
        id,
        `organization ${id} is renamed to ${name}`,
      )
    },
  )
  const remove = plannable(organizations.command('delete <organization>').alias('rm').description('delete an organization'))
  act(remove, async (session, { plan }: Asked, id: string) => {
    if (plan) return planOne(session, (query) => session.api.deleteOrganization({ path: { id }, query }))
    await session.confirm(`Delete organization ${id}? Its keys are then refused.`)
    await session.api.deleteOrganization({ path: { id } })
    session.out.done(undefined, id, `organization ${id} is deleted`)
  })
  const handOver = plannable(
    organizations.command('hand-over <organization> <user>').description('transfer the ownership to a member; you become ADMIN'),
  )
  act(handOver, async (session, { plan }: Asked, id: string, userId: string) => {
    if (plan) return planOne(session, (query) => session.api.handOverOrganization({ path: { id }, query, body: { userId } }))
    await session.confirm(`Make ${userId} the owner of ${id}? You cannot undo this yourself.`)
    session.out.done(await session.api.handOverOrganization({ path: { id }, body: { userId } }), id, `${userId} is the owner of ${id}`)
  })
}

function addMembers(program: Command): void {
  const members = noun(program, 'members', ['member'], 'members of an organization and their roles')
  act(
    members.command('list <organization>').alias('ls').description('list the members of an organization'),
    async (session, _options, id: string) => {
      const answer = await session.api.getOrganization({ path: { id } })
      session.out.list({ members: answer.members }, answer.members, {
        columns: MEMBER_COLUMNS,
        idOf: ({ userId }) => userId,
        empty: 'no members',
      })
    },
  )
  const role = plannable(
    members.command('set-role <organization> <user> <role>').description('set the role of a member: ADMIN, DEV, BILLING or BASIC'),
  )
  act(role, async (session, { plan }: Asked, id: string, userId: string, word: string) => {
    const body = { role: word.toUpperCase() as Role }
    if (plan) return planOne(session, (query) => session.api.updateOrganizationMember({ path: { id, userId }, query, body }))
    const member = await session.api.updateOrganizationMember({ path: { id, userId }, body })
    session.out.done(member, userId, `${member.email} is ${member.role}`)
  })
  examples(role, 'members set-role <organization> <user> DEV')
  const remove = plannable(
    members
      .command('remove <organization> <user>')
      .alias('rm')
      .description('remove a member; the keys that they created in the organization are revoked')
      .option('--keys-to <user>', 'transfer those keys to this member instead of revoking them'),
  )
  act(remove, async (session, { plan, keysTo }: Asked & { keysTo?: string }, id: string, userId: string) => {
    const path = { id, userId }
    if (plan) return planOne(session, (query) => session.api.removeOrganizationMember({ path, query: { ...query, keysTo } }))
    await session.confirm(`Remove ${userId} from ${id}?${keysTo === undefined ? ' The keys that they created in it are revoked.' : ''}`)
    await session.api.removeOrganizationMember({ path, query: { keysTo } })
    session.out.done(undefined, userId, `${userId} is removed from ${id}`)
  })
}

function addInvitations(program: Command): void {
  const invitations = noun(program, 'invitations', ['invitation'], 'invitations to an organization')
  act(
    invitations.command('list <organization>').alias('ls').description('list the open invitations'),
    async (session, _options, id: string) => {
      const answer = await session.api.listInvitations({ path: { id } })
      session.out.list(answer, answer.invitations, {
        columns: columns<Invitation>('id', 'email', 'role', 'createdAt', 'expiresAt'),
        idOf: (invitation) => invitation.id,
        empty: `no open invitations; create one with podplane invitations create ${id} <email>`,
      })
    },
  )
  const create = invitations
    .command('create <organization> <email>')
    .description('invite a user; the token is shown only once')
    .option('--role <role>', 'role of the new member: ADMIN, DEV, BILLING or BASIC', 'DEV')
    .option('--days <n>', 'number of days until the invitation expires', wholeNumber)
  act(create, async (session, { role, days }: { role: string; days?: number }, id: string, email: string) => {
    const body = { email, role: role.toUpperCase() as Role, ...(days !== undefined && { expiresInDays: days }) }
    const made = await session.api.createInvitation({ path: { id }, body })
    session.out.record(made, made.id)
    session.out.talk(`send the token to the user, who runs: podplane invitations accept <token>`)
  })
  examples(create, 'invitations create <organization> grace@example.com --role ADMIN')
  const revoke = plannable(invitations.command('revoke <organization> <invitation>').alias('rm').description('revoke an invitation'))
  act(revoke, async (session, { plan }: Asked, id: string, invitationId: string) => {
    const path = { id, invitationId }
    if (plan) return planOne(session, (query) => session.api.revokeInvitation({ path, query }))
    await session.api.revokeInvitation({ path })
    session.out.done(undefined, invitationId, `invitation ${invitationId} is revoked`)
  })
  act(
    invitations.command('accept <token>').description('accept an invitation and join the organization; - reads the token from stdin'),
    async (session, _options, token: string) => {
      const joined = await session.api.acceptInvitation({ body: { token: await tokenOf(session, token) } })
      session.out.done(joined, joined.id, `you are ${joined.role} in ${joined.name}`)
    },
  )
  act(invitations.command('decline <token>').description('decline an invitation'), async (session, _options, token: string) => {
    await session.api.declineInvitation({ body: { token: await tokenOf(session, token) } })
    session.out.talk('declined')
  })
}

async function tokenOf({ io }: Parameters<Parameters<typeof act>[1]>[0], text: string): Promise<string> {
  if (text !== '-') return text
  const { readAll } = await import('../core/body.ts')
  return (await readAll(io.stdin)).trim()
}
