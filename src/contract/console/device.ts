import { z } from 'zod'
import { KeyPermission, KeyScopes } from '../accounts/keys.ts'
import { KEY_DEFAULTS } from '../defaults.ts'
import { Name, Timestamp } from '../fields.ts'

const MAX_CODE_CHARS = 64
/** The device code contains the sealed name of the device, so it is long. */
const MAX_DEVICE_CODE_CHARS = 2048
const UserCode = z
  .string()
  .min(1)
  .max(MAX_CODE_CHARS)
  .meta({ description: 'The code that the device shows; case and hyphen do not matter.' })

/** Member names as in RFC 8628. */
export const StartDeviceRequest = z
  .strictObject({ name: Name.meta({ description: 'Name of the device; the key gets the same name.' }) })
  .meta({ id: 'StartDeviceRequest', example: { name: 'ada-laptop' } })
export type StartDeviceRequest = z.infer<typeof StartDeviceRequest>

export const StartedDevice = z
  .object({
    device_code: z.string().meta({ description: 'Only for the device.' }),
    user_code: z.string().meta({ description: 'The code that the user types or compares.' }),
    verification_uri: z.string(),
    verification_uri_complete: z
      .string()
      .meta({ description: "The same address with the code, and with the device name and the plane's proof of it." }),
    expires_in: z.number().int().meta({ description: 'Seconds.' }),
    interval: z.number().int().meta({ description: 'Minimum number of seconds between two polls.' }),
  })
  .meta({
    id: 'StartedDevice',
    example: {
      device_code: '<sealed>',
      user_code: 'WDJB-MJHT-KLQP',
      verification_uri: 'https://plane.example.com/console/device',
      verification_uri_complete: 'https://plane.example.com/console/device?code=WDJB-MJHT-KLQP&name=ada-laptop&proof=q1w2e3r4t5y6u7i8',
      expires_in: 900,
      interval: 5,
    },
  })
export type StartedDevice = z.infer<typeof StartedDevice>

export const DeviceTokenRequest = z
  .strictObject({ device_code: z.string().min(1).max(MAX_DEVICE_CODE_CHARS) })
  .meta({ id: 'DeviceTokenRequest', example: { device_code: '<sealed>' } })

export const DeviceToken = z
  .object({
    access_token: z.string().meta({ description: 'An API key, shown only once.' }),
    token_type: z.literal('Bearer'),
    key_id: z.string(),
    account_id: z.string().meta({ description: 'The account that the key acts for.' }),
  })
  .meta({
    id: 'DeviceToken',
    example: { access_token: 'pp_k3y1d00000_<secret>', token_type: 'Bearer', key_id: 'k3y1d00000', account_id: '5c8r2n6t1v9k3d' },
  })
export type DeviceToken = z.infer<typeof DeviceToken>

/** Error of RFC 8628 §3.5. `code` repeats `error` under the name that problems use. */
export const DeviceTokenError = z
  .object({
    error: z.enum(['authorization_pending', 'slow_down', 'expired_token', 'access_denied']),
    error_description: z.string(),
    code: z.string(),
    interval: z.number().int().meta({ description: 'Minimum number of seconds between two polls from now.' }),
  })
  .meta({
    id: 'DeviceTokenError',
    example: {
      error: 'authorization_pending',
      error_description: 'no user has approved the device yet',
      code: 'authorization_pending',
      interval: 5,
    },
  })
export type DeviceTokenError = z.infer<typeof DeviceTokenError>

const DeviceName = z.string().nullable().meta({ description: 'Name of the device; null: the request did not prove it.' })

/** A waiting device, for a user to recognize. Its times are rounded to the minute. */
export const WaitingDevice = z.object({ userCode: z.string(), name: DeviceName, createdAt: Timestamp, expiresAt: Timestamp }).meta({
  id: 'WaitingDevice',
  example: { userCode: 'WDJB-MJHT-KLQP', name: 'ada-laptop', createdAt: '2026-06-01T12:00:00Z', expiresAt: '2026-06-01T12:15:00Z' },
})
export type WaitingDevice = z.infer<typeof WaitingDevice>

export const ApproveDeviceRequest = z
  .strictObject({
    userCode: UserCode,
    permission: KeyPermission.optional().meta({ default: KEY_DEFAULTS.permission }),
    scopes: KeyScopes.optional(),
  })
  .meta({ id: 'ApproveDeviceRequest', example: { userCode: 'WDJB-MJHT-KLQP', permission: 'ALL' } })
export type ApproveDeviceRequest = z.infer<typeof ApproveDeviceRequest>

export const DenyDeviceRequest = z
  .strictObject({ userCode: UserCode })
  .meta({ id: 'DenyDeviceRequest', example: { userCode: 'WDJB-MJHT-KLQP' } })
