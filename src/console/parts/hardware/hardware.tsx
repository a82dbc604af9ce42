import type { ReactNode } from 'react'
import type { GpuType } from '../../../contract/catalog/catalog.ts'
import { useLive } from '../../hooks/live.ts'
import { SelectField, TextField } from '../form/field.tsx'
import { type FieldsProps, inputsOf, Options } from '../form/form.tsx'
import { ViewState } from '../view-state.tsx'
import { KindChoice } from './kind-choice.tsx'
import { OfferChoice } from './offer-choice.tsx'
import { cpuOffers, type Offer } from './offers.ts'

const EVERY_MS = 15_000
const VCPUS = [2, 4, 8, 16, 32]

/** Hardware fields that the forms of pods and endpoints share. */
export interface HardwareText {
  kind: 'gpu' | 'cpu'
  gpuCount: string
  cpuId: string
  vcpuCount: string
}

interface HardwareProps extends FieldsProps<HardwareText> {
  product: 'POD' | 'SERVERLESS'
  gpu: {
    /** Further query parameters that affect availability, such as the cloud. */
    query?: Record<string, string>
    chosen: string
    onChoose: (id: string) => void
    /** Offers of the catalog for this form. */
    offersOf: (gpus: readonly GpuType[], count: number) => Offer[]
    error: string | undefined
    /** Field beside the number of GPUs. */
    beside?: ReactNode
    /** Content below the list of types. */
    below?: ReactNode
  }
}

/** Choice of GPUs or CPUs, with current availability and price. */
export function Hardware(props: HardwareProps) {
  const { text, onChange } = props
  return (
    <div className="flex flex-col gap-4">
      <KindChoice kind={text.kind} onChange={(kind) => onChange({ kind })} />
      {text.kind === 'gpu' ? <Gpus {...props} /> : <Cpus {...props} />}
    </div>
  )
}

function Gpus({ product, text, onChange, errors, gpu }: HardwareProps) {
  const { input } = inputsOf(text, onChange, errors)
  const count = /^[1-9]\d{0,3}$/.test(text.gpuCount) ? text.gpuCount : '1'
  const query = { include: 'AVAILABILITY', product, count, ...gpu.query }
  const gpus = useLive(['catalog', 'gpus', query], (api, signal) => api.listGpuTypes({ query }, { signal }), { everyMs: EVERY_MS })
  return (
    <>
      <div className="grid grid-cols-2 gap-4">
        <TextField label="GPUs" type="number" min={1} {...input('gpuCount', 'gpu.count')} />
        {gpu.beside}
      </div>
      {gpu.error !== undefined && <p className="text-bad text-xs">{gpu.error}</p>}
      <ViewState of={gpus}>
        {(data) => (
          <OfferChoice caption="GPU types" offers={gpu.offersOf(data.gpus, Number(count))} chosen={gpu.chosen} onChoose={gpu.onChoose} />
        )}
      </ViewState>
      {gpu.below}
    </>
  )
}

function Cpus({ product, text, onChange, errors }: HardwareProps) {
  const { input } = inputsOf(text, onChange, errors)
  const wanted = Number(text.vcpuCount)
  // A template may set a number that the catalog does not offer; the query then leaves it out.
  const query = { include: 'AVAILABILITY', product, ...(Number.isInteger(Math.log2(wanted)) && wanted >= 2 && { vcpuCount: wanted }) }
  const cpus = useLive(['catalog', 'cpus', query], (api, signal) => api.listCpuTypes({ query }, { signal }), { everyMs: EVERY_MS })
  const error = errors.of('cpu.id') ?? errors.of('cpu')
  return (
    <>
      <SelectField label="vCPUs" {...input('vcpuCount', 'cpu.vcpuCount')}>
        <Options of={VCPUS} />
      </SelectField>
      {error !== undefined && <p className="text-bad text-xs">{error}</p>}
      <ViewState of={cpus}>
        {(data) => (
          <OfferChoice
            caption="CPU types"
            offers={cpuOffers(data.cpus, product, wanted)}
            chosen={text.cpuId}
            onChoose={(cpuId) => onChange({ cpuId })}
          />
        )}
      </ViewState>
    </>
  )
}
