import type {
  CpuType,
  DataCenter,
  GpuType,
  ListCpuTypesResponse,
  ListDataCentersResponse,
  ListGpuTypesResponse,
  ListPublicTemplatesResponse,
} from '../../contract/catalog/catalog.ts'
import { as, get } from '../operation.ts'

export const CATALOG_OPERATIONS = {
  listGpuTypes: get('/v2/catalog/gpus', as<typeof ListGpuTypesResponse>()),
  getGpuType: get('/v2/catalog/gpus/{id}', as<typeof GpuType>()),
  listCpuTypes: get('/v2/catalog/cpus', as<typeof ListCpuTypesResponse>()),
  getCpuType: get('/v2/catalog/cpus/{id}', as<typeof CpuType>()),
  listDataCenters: get('/v2/catalog/datacenters', as<typeof ListDataCentersResponse>()),
  getDataCenter: get('/v2/catalog/datacenters/{id}', as<typeof DataCenter>()),
  listPublicTemplates: get('/v2/catalog/templates', as<typeof ListPublicTemplatesResponse>()),
}
