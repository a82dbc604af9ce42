import type { NetworkVolume } from '../../contract/resources/network-volumes.ts'

/** A network volume with flat fields, as v1 and GraphQL show it. */
export function flatVolume({ id, name, size, dataCenter }: NetworkVolume) {
  return { id, name, size, dataCenterId: dataCenter }
}
