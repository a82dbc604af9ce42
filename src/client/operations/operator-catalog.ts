import type {
  CatalogItem,
  ListCatalogItems,
  PutCatalogCpu,
  PutCatalogDataCenter,
  PutCatalogGpu,
  PutCatalogPublisher,
  PutCatalogStorage,
} from '../../contract/catalog/entries.ts'
import type { ChangePlan } from '../../contract/change-plan.ts'
import { as, get, put, remove } from '../operation.ts'

export const OPERATOR_CATALOG_OPERATIONS = {
  listCatalogGpus: get('/admin/v1/catalog/gpus', as<typeof ListCatalogItems>()),
  getCatalogGpu: get('/admin/v1/catalog/gpus/{id}', as<typeof CatalogItem>()),
  putCatalogGpu: put('/admin/v1/catalog/gpus/{id}', as<typeof CatalogItem>(), as<typeof PutCatalogGpu>()),
  deleteCatalogGpu: remove('/admin/v1/catalog/gpus/{id}', as<typeof ChangePlan | undefined>()),
  listCatalogCpus: get('/admin/v1/catalog/cpus', as<typeof ListCatalogItems>()),
  getCatalogCpu: get('/admin/v1/catalog/cpus/{id}', as<typeof CatalogItem>()),
  putCatalogCpu: put('/admin/v1/catalog/cpus/{id}', as<typeof CatalogItem>(), as<typeof PutCatalogCpu>()),
  deleteCatalogCpu: remove('/admin/v1/catalog/cpus/{id}', as<typeof ChangePlan | undefined>()),
  listCatalogDataCenters: get('/admin/v1/catalog/datacenters', as<typeof ListCatalogItems>()),
  getCatalogDataCenter: get('/admin/v1/catalog/datacenters/{id}', as<typeof CatalogItem>()),
  putCatalogDataCenter: put('/admin/v1/catalog/datacenters/{id}', as<typeof CatalogItem>(), as<typeof PutCatalogDataCenter>()),
  deleteCatalogDataCenter: remove('/admin/v1/catalog/datacenters/{id}', as<typeof ChangePlan | undefined>()),
  listCatalogStorages: get('/admin/v1/catalog/storage', as<typeof ListCatalogItems>()),
  getCatalogStorage: get('/admin/v1/catalog/storage/{id}', as<typeof CatalogItem>()),
  putCatalogStorage: put('/admin/v1/catalog/storage/{id}', as<typeof CatalogItem>(), as<typeof PutCatalogStorage>()),
  deleteCatalogStorage: remove('/admin/v1/catalog/storage/{id}', as<typeof ChangePlan | undefined>()),
  listCatalogPublishers: get('/admin/v1/catalog/publishers', as<typeof ListCatalogItems>()),
  getCatalogPublisher: get('/admin/v1/catalog/publishers/{id}', as<typeof CatalogItem>()),
  putCatalogPublisher: put('/admin/v1/catalog/publishers/{id}', as<typeof CatalogItem>(), as<typeof PutCatalogPublisher>()),
  deleteCatalogPublisher: remove('/admin/v1/catalog/publishers/{id}', as<typeof ChangePlan | undefined>()),
}
