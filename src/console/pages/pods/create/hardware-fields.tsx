import { useState } from 'react'
import type { CpuType, GpuType } from '../../../../contract/catalog/catalog.ts'
import { useLive } from '../../../app/live.ts'
import { Button } from '../../../parts/button.tsx'
import { Face } from '../../../parts/faces.tsx'
import { CheckField, SelectField, TextField } from '../../../parts/form/field.tsx'
import type { FieldErrors } from '../../../parts/form/field-errors.ts'
import { KindChoice } from '../../../parts/form/kind-choice.tsx'
import { money } from '../../../parts/format.ts'
import { Level } from '../../../parts/level.tsx'
import { Table } from '../../../parts/table.tsx'
import { DataCenterField } from './data-center-field.tsx'
import type { PodText } from './pod-form.ts'

const EVERY_MS = 15_000

interface HardwareFieldsProps {
  text: PodText
  onChange: (part: Partial<PodText>) => void
  errors: FieldErrors
}

/** GPUs or CPUs, with what is free now and its price. */
export function HardwareFields({ text, onChange, errors }: HardwareFieldsProps) {
  return (
    <div className="flex flex-col gap-4">
      <KindChoice kind={text.kind} onChange={(kind) => onChange({ kind })} />
      {text.kind === 'gpu' ? (
        <Gpus text={text} onChange={onChange} errors={errors} />
      ) : (
        <Cpus text={text} onChange={onChange} errors={errors} />
      )}
      <DataCenterField value={text.dataCenters} onChange={(dataCenters) => onChange({ dataCenters })} error={errors.of('dataCenterIds')} />
    </div>
  )
}

function Gpus({ text, onChange, errors }: HardwareFieldsProps) {
  const count = /^[1-9]\d{0,3}$/.test(text.gpuCount) ? text.gpuCount : '1'
  const query = { include: 'AVAILABILITY', product: 'POD', count, cloud: text.cloud }
  const gpus = useLive(['catalog', 'gpus', query], (api, signal) => api.listGpuTypes({ query }, { signal }), { everyMs: EVERY_MS })
  const cloud = text.cloud === 'SECURE' ? 'secure' : 'community'
  const error = errors.of('gpu.id') ?? errors.of('gpu')
  return (
    <>
      <div className="grid grid-cols-2 gap-4">
        <TextField
          label="GPUs"
          type="number"
          min={1}
          value={text.gpuCount}
          error={errors.of('gpu.count')}
          onChange={({ target }) => onChange({ gpuCount: target.value })}
        />
        <SelectField
          label="Cloud"
          value={text.cloud}
          error={errors.of('cloud')}
          onChange={({ target }) => onChange({ cloud: target.value === 'COMMUNITY' ? 'COMMUNITY' : 'SECURE' })}
        >
          <option value="SECURE">Secure</option>
          <option value="COMMUNITY">Community</option>
        </SelectField>
      </div>
      {error !== undefined && <p className="text-bad text-xs">{error}</p>}
      <Face of={gpus}>
        {({ gpus: all }) => (
          <Choice
            caption="GPU types"
            rows={all.filter((gpu) => gpu[cloud])}
            chosen={text.gpuId}
            onChoose={(gpuId) => onChange({ gpuId })}
            priceOf={(gpu: GpuType) => gpu.price[cloud] * Number(count)}
            detailOf={(gpu: GpuType) => `${gpu.memory} GB`}
          />
        )}
      </Face>
      {(text.isAnyCuda || text.templateId !== '') && (
        <CheckField
          label="Any CUDA version"
          hint="Also where the template asks for certain ones."
          checked={text.isAnyCuda}
          error={errors.of('gpu.allowedCudaVersions')}
          onChange={({ target }) => onChange({ isAnyCuda: target.checked })}
        />
      )}
    </>
  )
}

function Cpus({ text, onChange, errors }: HardwareFieldsProps) {
  const wanted = Number(text.vcpuCount)
  const query = {
    include: 'AVAILABILITY',
    product: 'POD',
    ...(Number.isInteger(Math.log2(wanted)) && wanted >= 2 && { vcpuCount: wanted }),
  }
  const cpus = useLive(['catalog', 'cpus', query], (api, signal) => api.listCpuTypes({ query }, { signal }), { everyMs: EVERY_MS })
  const error = errors.of('cpu.id') ?? errors.of('cpu')
  return (
    <>
      <SelectField
        label="vCPUs"
        value={text.vcpuCount}
        error={errors.of('cpu.vcpuCount')}
        onChange={({ target }) => onChange({ vcpuCount: target.value })}
      >
        {[2, 4, 8, 16, 32].map((one) => (
          <option key={one}>{one}</option>
        ))}
      </SelectField>
      {error !== undefined && <p className="text-bad text-xs">{error}</p>}
      <Face of={cpus}>
        {({ cpus: all }) => (
          <Choice
            caption="CPU types"
            rows={all}
            chosen={text.cpuId}
            onChoose={(cpuId) => onChange({ cpuId })}
            priceOf={(cpu: CpuType) => cpu.price.securePerVcpu * wanted}
            detailOf={(cpu: CpuType) => `${cpu.ramGbPerVcpu * wanted} GB`}
          />
        )}
      </Face>
    </>
  )
}

interface Offer {
  id: string
  name: string
  availability?: 'NONE' | 'LOW' | 'MEDIUM' | 'HIGH' | undefined
}

interface ChoiceProps<Row extends Offer> {
  caption: string
  rows: readonly Row[]
  chosen: string
  onChoose: (id: string) => void
  priceOf: (row: Row) => number
  detailOf: (row: Row) => string
}

/** What has room now; the rest on request. */
function Choice<Row extends Offer>({ caption, rows, chosen, onChoose, priceOf, detailOf }: ChoiceProps<Row>) {
  const [isWhole, setIsWhole] = useState(false)
  const free = rows.filter(({ availability }) => availability !== undefined && availability !== 'NONE')
  const shown = isWhole
    ? [...free, ...rows.filter((row) => !free.includes(row))]
    : rows.filter((row) => free.includes(row) || row.id === chosen)
  return (
    <>
      {shown.length === 0 ? (
        <p className="text-soft">Nothing of this size has room now.</p>
      ) : (
        <Table
          caption={caption}
          rows={shown}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Type',
              show: ({ id, name }) => (
                <label className="flex items-center gap-2">
                  <input type="radio" name="hardware" className="size-4" checked={id === chosen} onChange={() => onChoose(id)} />
                  {name}
                </label>
              ),
            },
            { title: 'Memory', isMinor: true, isNumber: true, show: detailOf },
            { title: 'Free', show: ({ availability }) => <Level level={availability ?? 'NONE'} /> },
            { title: 'Per hour', isNumber: true, show: (row) => money(priceOf(row)) },
          ]}
        />
      )}
      {free.length < rows.length && (
        <div>
          <Button kind="quiet" aria-expanded={isWhole} onClick={() => setIsWhole(!isWhole)}>
            {isWhole ? 'Show only what has room' : `Show all ${rows.length} types`}
          </Button>
        </div>
      )}
    </>
  )
}
