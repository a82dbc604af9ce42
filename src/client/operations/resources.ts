import type { ChangePlan } from '../../contract/change-plan.ts'
import type { CreateDelegationRequest, EcrDelegation, ListDelegationsResponse } from '../../contract/resources/delegations.ts'
import type {
  CreateGlobalVolumeRequest,
  GlobalVolume,
  ListGlobalVolumesResponse,
  UpdateGlobalVolumeRequest,
} from '../../contract/resources/global-volumes.ts'
import type {
  CreateNetworkVolumeRequest,
  ListNetworkVolumesResponse,
  NetworkVolume,
  UpdateNetworkVolumeRequest,
} from '../../contract/resources/network-volumes.ts'
import type { CreateRegistryRequest, ListRegistriesResponse, Registry } from '../../contract/resources/registries.ts'
import type { CreateTemplateRequest, ListTemplatesResponse, Template, UpdateTemplateRequest } from '../../contract/resources/templates.ts'
import { as, create, get, patch, remove } from '../operation.ts'

export const RESOURCES_OPERATIONS = {
  listTemplates: get('/v2/templates', as<typeof ListTemplatesResponse>()),
  createTemplate: create('/v2/templates', as<typeof Template>(), as<typeof CreateTemplateRequest>()),
  getTemplate: get('/v2/templates/{id}', as<typeof Template>()),
  updateTemplate: patch('/v2/templates/{id}', as<typeof Template>(), as<typeof UpdateTemplateRequest>()),
  deleteTemplate: remove('/v2/templates/{id}', as<typeof ChangePlan | undefined>()),
  listNetworkVolumes: get('/v2/network-volumes', as<typeof ListNetworkVolumesResponse>()),
  createNetworkVolume: create('/v2/network-volumes', as<typeof NetworkVolume>(), as<typeof CreateNetworkVolumeRequest>()),
  getNetworkVolume: get('/v2/network-volumes/{id}', as<typeof NetworkVolume>()),
  updateNetworkVolume: patch('/v2/network-volumes/{id}', as<typeof NetworkVolume>(), as<typeof UpdateNetworkVolumeRequest>()),
  deleteNetworkVolume: remove('/v2/network-volumes/{id}', as<typeof ChangePlan | undefined>()),
  listGlobalVolumes: get('/v2/global-volumes', as<typeof ListGlobalVolumesResponse>()),
  createGlobalVolume: create('/v2/global-volumes', as<typeof GlobalVolume>(), as<typeof CreateGlobalVolumeRequest>()),
  getGlobalVolume: get('/v2/global-volumes/{id}', as<typeof GlobalVolume>()),
  updateGlobalVolume: patch('/v2/global-volumes/{id}', as<typeof GlobalVolume>(), as<typeof UpdateGlobalVolumeRequest>()),
  deleteGlobalVolume: remove('/v2/global-volumes/{id}', as<typeof ChangePlan | undefined>()),
  listDelegations: get('/v2/registries/delegations', as<typeof ListDelegationsResponse>()),
  createDelegation: create('/v2/registries/delegations', as<typeof EcrDelegation>(), as<typeof CreateDelegationRequest>()),
  revokeDelegation: remove('/v2/registries/delegations/{id}', as<typeof ChangePlan | undefined>()),
  listRegistries: get('/v2/registries', as<typeof ListRegistriesResponse>()),
  createRegistry: create('/v2/registries', as<typeof Registry>(), as<typeof CreateRegistryRequest>()),
  getRegistry: get('/v2/registries/{id}', as<typeof Registry>()),
  deleteRegistry: remove('/v2/registries/{id}', as<typeof ChangePlan | undefined>()),
}
