import { z } from 'zod'
import { pathParam } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'

export const PATH = '/v2/organizations'
export const ITEM_PATH = `${PATH}/{id}` as const

const organizationId = pathParam('id', 'Organization id.')

export const OrganizationParams = z.object({ id: organizationId })
export const MemberParams = z.object({ id: organizationId, userId: pathParam('userId', 'User id of the member.') })
export const InvitationParams = z.object({ id: organizationId, invitationId: pathParam('invitationId', 'Invitation id.') })

export const route = restRoutes('Organizations')
