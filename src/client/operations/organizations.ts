import type { ChangePlan } from '../../contract/change-plan.ts'
import type {
  AnswerInvitationRequest,
  CreatedInvitation,
  CreateInvitationRequest,
  CreateOrganizationRequest,
  HandOverRequest,
  ListInvitationsResponse,
  ListOrganizationsResponse,
  Organization,
  OrganizationDetails,
  OrganizationMember,
  UpdateMemberRequest,
  UpdateOrganizationRequest,
} from '../../contract/organizations/organizations.ts'
import { as, create, get, NOTHING, patch, post, remove } from '../operation.ts'

export const ORGANIZATIONS_OPERATIONS = {
  acceptInvitation: post('/v2/organizations/invitations/accept', as<typeof Organization>(), as<typeof AnswerInvitationRequest>()),
  declineInvitation: post('/v2/organizations/invitations/decline', NOTHING, as<typeof AnswerInvitationRequest>()),
  createInvitation: create('/v2/organizations/{id}/invitations', as<typeof CreatedInvitation>(), as<typeof CreateInvitationRequest>()),
  listInvitations: get('/v2/organizations/{id}/invitations', as<typeof ListInvitationsResponse>()),
  revokeInvitation: remove('/v2/organizations/{id}/invitations/{invitationId}', as<typeof ChangePlan | undefined>()),
  handOverOrganization: post('/v2/organizations/{id}/hand-over', as<typeof OrganizationDetails>(), as<typeof HandOverRequest>()),
  updateOrganizationMember: patch(
    '/v2/organizations/{id}/members/{userId}',
    as<typeof OrganizationMember>(),
    as<typeof UpdateMemberRequest>(),
  ),
  removeOrganizationMember: remove('/v2/organizations/{id}/members/{userId}', as<typeof ChangePlan | undefined>()),
  listOrganizations: get('/v2/organizations', as<typeof ListOrganizationsResponse>()),
  createOrganization: create('/v2/organizations', as<typeof Organization>(), as<typeof CreateOrganizationRequest>()),
  getOrganization: get('/v2/organizations/{id}', as<typeof OrganizationDetails>()),
  updateOrganization: patch('/v2/organizations/{id}', as<typeof Organization>(), as<typeof UpdateOrganizationRequest>()),
  deleteOrganization: remove('/v2/organizations/{id}', as<typeof ChangePlan | undefined>()),
}
