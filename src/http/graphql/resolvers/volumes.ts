import { CreateNetworkVolumeRequest, type NetworkVolume, UpdateNetworkVolumeRequest } from '../../../contract/resources/network-volumes.ts'
import { flatVolume } from '../../../domain/flat/volumes.ts'
import { flatDataCenter } from '../../../domain/graphql/catalog.ts'
import { listShownDataCenters } from '../../../services/catalog/data-centers.ts'
import { createVolume, deleteVolume, listVolumes, updateVolume } from '../../../services/resources/network-volumes.ts'
import { type Call, once, type Resolvers } from '../call.ts'
import { checked, needed } from '../checked.ts'

type Flat = ReturnType<typeof flatVolume>
interface VolumeInput {
  id?: string | null
  name?: string | null
  /** GB. */
  size?: number | null
  dataCenterId?: string | null
}

/** Resolvers of network volumes (GQL-74). */
export const VOLUME_RESOLVERS: Resolvers = {
  NetworkVolume: {
    dataCenter: async ({ dataCenterId }: Flat, _, call) => {
      const all = await once(call, 'data centers of volumes', () => listShownDataCenters(call.ctx, {}))
      return all.map(flatDataCenter).find(({ id }) => id === dataCenterId) ?? null
    },
  },
  Mutation: {
    createNetworkVolume: async (_, { input, ...beside }: VolumeInput & { input?: VolumeInput | null }, { ctx, key }) =>
      flatVolume(await createVolume(ctx, checked(CreateNetworkVolumeRequest, bodyOf(withPlace(input ?? beside))), key)),
    updateNetworkVolume: async (_, { input }: { input?: VolumeInput | null }, { ctx }): Promise<Flat> => {
      const { id, ...change } = needed(input)
      const volume: NetworkVolume = await updateVolume(ctx, needed(id, 'id'), checked(UpdateNetworkVolumeRequest, bodyOf(change)))
      return flatVolume(volume)
    },
    deleteNetworkVolume: async (_, { input }: { input?: VolumeInput | null }, { ctx }) => {
      await deleteVolume(ctx, needed(needed(input).id, 'id'))
      return null
    },
  },
}

// Requires `dataCenterId` here, because the schema of v2 would report it as `dataCenter`.
function withPlace(input: VolumeInput): VolumeInput {
  return { ...input, dataCenterId: needed(input.dataCenterId, 'dataCenterId') }
}

/** Drops members that are null, which count as absent. */
function bodyOf({ name, size, dataCenterId }: VolumeInput): object {
  return Object.fromEntries(
    Object.entries({ name, size, dataCenter: dataCenterId }).filter(([, value]) => value !== null && value !== undefined),
  )
}

/** The network volumes of the account, read once per request. */
export function listVolumesOnce(call: Call) {
  return once(call, 'network volumes', async () => (await listVolumes(call.ctx)).map(flatVolume))
}
