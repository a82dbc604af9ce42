import { z } from 'zod'
import { Email } from '../accounts/email.ts'
import { orChangePlan } from '../change-plan.ts'
import { Name, ResourceId, Timestamp } from '../fields.ts'

/** Days for which an invitation is valid (TEAM-7). */
export const INVITATION_DAYS = 7
const MAX_INVITATION_DAYS = 30
/** Longest accepted token, characters; tokens are far shorter. */
const MAX_TOKEN_LENGTH = 128

const ID = '4h8k2m9x7q1w3e'
const USER_ID = '7q1w3e4k8h2m9x'
const CREATED_AT = '2026-06-01T12:00:00Z'

export const OrganizationRole = z.enum(['OWNER', 'ADMIN', 'DEV', 'BILLING', 'BASIC']).meta({
  id: 'OrganizationRole',
  description: 'What a member may do (ORG-3).',
  example: 'DEV',
})

export const Organization = z
  .object({
    id: z.string(),
    name: z.string(),
    role: OrganizationRole.meta({ description: 'The role of the caller.' }),
    createdAt: Timestamp,
  })
  .meta({ id: 'Organization', example: { id: ID, name: 'Acme', role: 'OWNER', createdAt: CREATED_AT } })
export type Organization = z.infer<typeof Organization>

export const OrganizationMember = z
  .object({ userId: z.string(), email: z.string(), role: OrganizationRole, joinedAt: Timestamp })
  .meta({ id: 'OrganizationMember', example: { userId: USER_ID, email: 'ada@example.com', role: 'OWNER', joinedAt: CREATED_AT } })
export type OrganizationMember = z.infer<typeof OrganizationMember>

export const OrganizationDetails = Organization.extend({
  members: z.array(OrganizationMember).meta({ description: 'All members, in the order in which they joined.' }),
}).meta({
  id: 'OrganizationDetails',
  example: {
    id: ID,
    name: 'Acme',
    role: 'OWNER',
    createdAt: CREATED_AT,
    members: [{ userId: USER_ID, email: 'ada@example.com', role: 'OWNER', joinedAt: CREATED_AT }],
  },
})
export type OrganizationDetails = z.infer<typeof OrganizationDetails>

/** One page without a cursor (PAG-5). */
export const ListOrganizationsResponse = z
  .object({ organizations: z.array(Organization) })
  .meta({ id: 'ListOrganizationsResponse', example: { organizations: [] } })

export const CreateOrganizationRequest = z.strictObject({ name: Name }).meta({ id: 'CreateOrganizationRequest', example: { name: 'Acme' } })
export type CreateOrganizationRequest = z.infer<typeof CreateOrganizationRequest>

export const UpdateOrganizationRequest = z
  .strictObject({ name: Name })
  .meta({ id: 'UpdateOrganizationRequest', example: { name: 'Acme Labs' } })
export type UpdateOrganizationRequest = z.infer<typeof UpdateOrganizationRequest>

export const UpdateMemberRequest = z
  .strictObject({ role: OrganizationRole })
  .meta({ id: 'UpdateMemberRequest', example: { role: 'ADMIN' } })
export type UpdateMemberRequest = z.infer<typeof UpdateMemberRequest>

export const HandOverRequest = z
  .strictObject({ userId: ResourceId.meta({ description: 'The member who becomes OWNER; the caller becomes ADMIN.' }) })
  .meta({ id: 'HandOverRequest', example: { userId: USER_ID } })
export type HandOverRequest = z.infer<typeof HandOverRequest>

/** Query of a member's removal: the new owner of the member's keys (TEAM-10). */
export const RemoveMemberQuery = z.object({
  keysTo: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'The member who takes over the keys of the leaving member; if omitted, they are revoked.' }),
})

export const CreateInvitationRequest = z
  .strictObject({
    email: Email,
    role: OrganizationRole,
    expiresInDays: z.number().int().min(1).max(MAX_INVITATION_DAYS).optional().meta({ default: INVITATION_DAYS }),
  })
  .meta({ id: 'CreateInvitationRequest', example: { email: 'grace@example.com', role: 'DEV' } })
export type CreateInvitationRequest = z.infer<typeof CreateInvitationRequest>

export const Invitation = z
  .object({
    id: z.string(),
    email: z.string(),
    role: OrganizationRole,
    invitedBy: z.string().meta({ description: 'Id of the member who invited.' }),
    createdAt: Timestamp,
    expiresAt: Timestamp,
  })
  .meta({
    id: 'Invitation',
    example: {
      id: '5r9x2m7q4h1k8v',
      email: 'grace@example.com',
      role: 'DEV',
      invitedBy: USER_ID,
      createdAt: CREATED_AT,
      expiresAt: '2026-06-08T12:00:00Z',
    },
  })
export type Invitation = z.infer<typeof Invitation>

export const CreatedInvitation = Invitation.extend({
  token: z.string().meta({ description: 'Accepts the invitation once. Shown only here: pass it on to the invited user.' }),
}).meta({
  id: 'CreatedInvitation',
  example: {
    id: '5r9x2m7q4h1k8v',
    email: 'grace@example.com',
    role: 'DEV',
    invitedBy: USER_ID,
    createdAt: CREATED_AT,
    expiresAt: '2026-06-08T12:00:00Z',
    token: 'ppi_<random>',
  },
})
export type CreatedInvitation = z.infer<typeof CreatedInvitation>

/** Pending invitations only, without a cursor: their number is bounded. */
export const ListInvitationsResponse = z
  .object({ invitations: z.array(Invitation) })
  .meta({ id: 'ListInvitationsResponse', example: { invitations: [] } })

export const AnswerInvitationRequest = z
  .strictObject({ token: z.string().min(1).max(MAX_TOKEN_LENGTH) })
  .meta({ id: 'AnswerInvitationRequest', example: { token: 'ppi_<random>' } })

/** Answer of a change: the organization, or with `dryRun` the plan (DRY-14). */
export const OrganizationDetailsOrChangePlan = orChangePlan('OrganizationDetailsOrChangePlan', OrganizationDetails)

/** Answer of a change: the member, or with `dryRun` the plan (DRY-14). */
export const OrganizationMemberOrChangePlan = orChangePlan('OrganizationMemberOrChangePlan', OrganizationMember)
