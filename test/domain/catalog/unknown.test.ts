import { SEED_CATALOG } from '../../../src/domain/catalog/seed.ts'
import { unknownCpuFlavor, unknownGpuPool, unknownGpuType, unsoldSize } from '../../../src/domain/catalog/unknown.ts'
import { describe, expect, it } from '../../support/unit.ts'

describe('[CAT-19] an id that the catalog does not have', () => {
  const typeOf = (id: string) => unknownGpuType(SEED_CATALOG, id, '$.gpu.id')
  const GPUS = 'GET /v2/catalog/gpus lists'

  it.each([
    ['L4', `did you mean "NVIDIA L4"? ${GPUS} all`],
    ['nvidia l4', `did you mean "NVIDIA L4"? ${GPUS} all`],
    ['rtx4090', `did you mean "NVIDIA GeForce RTX 4090"? ${GPUS} all`],
    ['a100', `did you mean "NVIDIA A100 80GB PCIe" or "NVIDIA A100-SXM4-80GB"? ${GPUS} all`],
    ['NVIDIA L4 24GB', `did you mean "NVIDIA L4"? ${GPUS} all`],
    ['T1000', `${GPUS} all`],
    ['__proto__', `${GPUS} all`],
    ['4', `${GPUS} all`],
  ])('%s of a GPU: %s', (id, error) => {
    expect(typeOf(id)).toEqual({ key: 'badRequest', detail: `invalid GPU type id "${id}"`, errors: [`$.gpu.id: ${error}`] })
  })

  it.each([
    ['ampere 24', `did you mean "AMPERE_24"? ${GPUS} the pool of each type`],
    ['L4', `did you mean "AMPERE_24"? ${GPUS} the pool of each type`],
    ['NOPE', `${GPUS} the pool of each type`],
  ])('%s of a pool: %s', (id, error) => {
    expect(unknownGpuPool(SEED_CATALOG, id, '$.gpu.pools[0]')).toEqual({
      key: 'badRequest',
      detail: `gpu pool ${id} not found`,
      errors: [`$.gpu.pools[0]: ${error}`],
    })
  })

  it('of a flavor', () => {
    expect(unknownCpuFlavor(SEED_CATALOG, 'cpu3', '$.cpu[0].id', 'cpu flavor cpu3 not found')).toEqual({
      key: 'badRequest',
      detail: 'cpu flavor cpu3 not found',
      errors: ['$.cpu[0].id: did you mean "cpu3c" or "cpu3g" or "cpu3m"? GET /v2/catalog/cpus lists all'],
    })
  })

  it('of a size of a flavor', () => {
    const [flavor] = SEED_CATALOG.cpuFlavors
    if (!flavor) throw new Error('there are no flavors')
    expect(unsoldSize({ ...flavor, minVcpu: 2, maxVcpu: 24 }, 3, '$.cpu.vcpuCount')).toEqual({
      key: 'badRequest',
      detail: `vcpuCount 3 is not valid for ${flavor.id}`,
      errors: [`$.cpu.vcpuCount: ${flavor.id} is sold with 2, 4, 8, 16 vCPUs`],
    })
  })
})
