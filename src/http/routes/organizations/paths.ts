import { z } from 'zod'
import { BEARER } from '../../openapi/rest-components.ts'

export const PATH = '/v2/organizations'
export const ITEM_PATH = `${PATH}/{id}` as const

const organizationId = z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Organization id.' })

export const OrganizationParams = z.object({ id: organizationId })
export const MemberParams = z.object({
  id: organizationId,
  userId: z.string().meta({ param: { name: 'userId', in: 'path' }, description: 'User id of the member.' }),
})
export const InvitationParams = z.object({
  id: organizationId,
  invitationId: z.string().meta({ param: { name: 'invitationId', in: 'path' }, description: 'Invitation id.' }),
})

export const common = { tags: ['Organizations'], security: BEARER }
