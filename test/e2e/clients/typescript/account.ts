import type { Podplane } from '@podplane/sdk'
import { holds, refused } from './tour.ts'

export async function account(plane: Podplane, guest: Podplane) {
  return {
    user: await user(plane),
    keys: await keys(plane),
    organization: await organization(plane, guest),
    audit: await audit(plane),
  }
}

async function user(plane: Podplane) {
  const me = await plane.getUser()
  const limits = await plane.getAccountLimits()
  return [me.email.includes('@'), Object.keys(limits).length > 0]
}

async function keys(plane: Podplane) {
  const made = await plane.createAccountKey({ body: { name: 'one', permission: 'READ_ONLY' } })
  const next = await plane.rotateAccountKey({ path: { id: made.id }, body: { overlapSeconds: 0 } })
  if (!('key' in next)) throw new Error('a rotation was answered as a plan')
  const listed = await plane.listAccountKeys()
  await plane.revokeAccountKey({ path: { id: next.id } })
  const after = await plane.listAccountKeys()
  const find = (list: typeof listed) => list.keys.find(({ id }) => id === next.id)
  return [made.name, next.key !== null, find(listed)?.revokedAt, typeof find(after)?.revokedAt === 'string']
}

async function organization(plane: Podplane, guest: Podplane) {
  const made = await plane.createOrganization({ body: { name: 'One' } })
  const path = { id: made.id }
  const { email, id: guestId } = await guest.getUser()
  const { id: ownerId } = await plane.getUser()
  const invite = () => plane.createInvitation({ path, body: { email, role: 'BASIC' } })

  await guest.declineInvitation({ body: { token: (await invite()).token } })
  await plane.revokeInvitation({ path: { ...path, invitationId: (await invite()).id } })
  const { token } = await invite()
  const { invitations } = await plane.listInvitations({ path })
  const joined = await guest.acceptInvitation({ body: { token } })
  const member = await plane.updateOrganizationMember({ path: { ...path, userId: guestId }, body: { role: 'ADMIN' } })
  await plane.handOverOrganization({ path, body: { userId: guestId } })
  await guest.handOverOrganization({ path, body: { userId: ownerId } })
  const { members } = await plane.getOrganization({ path })
  await plane.removeOrganizationMember({ path: { ...path, userId: guestId } })
  const renamed = await plane.updateOrganization({ path, body: { name: 'Two' } })
  const { organizations } = await plane.listOrganizations()
  await plane.deleteOrganization({ path })
  return {
    made: [made.name, made.role],
    invited: [invitations.length, joined.role, 'role' in member && member.role, members.length],
    renamed: [renamed.name, holds(organizations, made)],
    gone: await refused(plane.getOrganization({ path })),
  }
}

async function audit(plane: Podplane) {
  const { entries } = await plane.listAudit({ query: { limit: 1 } })
  const { id } = await plane.createTemplate({ body: { name: 'audited', image: 'builtin/idle' } })
  const at = new Date(Date.now() + 1_000).toISOString()
  await plane.listEvents({ query: { limit: 1 } })
  const state = await plane.getAuditState({ query: { resource: id, at } })
  await plane.deleteTemplate({ path: { id } })
  return [entries.length, state.resource.kind]
}
