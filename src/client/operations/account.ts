import type { ActingUser } from '../../contract/accounts/accounts.ts'
import type { AuditStateResponse, ListAuditResponse } from '../../contract/accounts/audit.ts'
import type { AccountLimits } from '../../contract/accounts/budgets.ts'
import type { ListEventsResponse } from '../../contract/accounts/events.ts'
import type { CreatedAccountKey, CreateKeyRequest, ListAccountKeysResponse, RotateKeyRequest } from '../../contract/accounts/keys.ts'
import type { SshKeys, UpdateSshKeysRequest } from '../../contract/accounts/ssh-keys.ts'
import type { ChangePlan } from '../../contract/change-plan.ts'
import type { CreateSecretRequest, ListSecretsResponse, Secret, UpdateSecretRequest } from '../../contract/resources/secrets.ts'
import { as, create, get, patch, post, put, remove } from '../operation.ts'

export const ACCOUNT_OPERATIONS = {
  getSshKeys: get('/v2/account/ssh-keys', as<typeof SshKeys>()),
  putSshKeys: put('/v2/account/ssh-keys', as<typeof SshKeys>(), as<typeof UpdateSshKeysRequest>()),
  listSecrets: get('/v2/account/secrets', as<typeof ListSecretsResponse>()),
  createSecret: create('/v2/account/secrets', as<typeof Secret>(), as<typeof CreateSecretRequest>()),
  getSecret: get('/v2/account/secrets/{id}', as<typeof Secret>()),
  updateSecret: patch('/v2/account/secrets/{id}', as<typeof Secret>(), as<typeof UpdateSecretRequest>()),
  deleteSecret: remove('/v2/account/secrets/{id}', as<typeof ChangePlan | undefined>()),
  getAccountLimits: get('/v2/account/limits', as<typeof AccountLimits>()),
  listAudit: get('/v2/account/audit', as<typeof ListAuditResponse>()),
  listEvents: get('/v2/events', as<typeof ListEventsResponse>()),
  getAuditState: get('/v2/account/audit/state', as<typeof AuditStateResponse>()),
  listAccountKeys: get('/v2/account/keys', as<typeof ListAccountKeysResponse>()),
  createAccountKey: create('/v2/account/keys', as<typeof CreatedAccountKey>(), as<typeof CreateKeyRequest>()),
  rotateAccountKey: post('/v2/account/keys/{id}/rotate', as<typeof CreatedAccountKey>(), as<typeof RotateKeyRequest>()),
  revokeAccountKey: remove('/v2/account/keys/{id}', as<typeof ChangePlan | undefined>()),
  getUser: get('/v2/user', as<typeof ActingUser>()),
}
