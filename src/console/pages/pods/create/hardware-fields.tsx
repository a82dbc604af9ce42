import { CheckField, SelectField } from '../../../parts/form/field.tsx'
import { type FieldsProps, inputsOf } from '../../../parts/form/form.tsx'
import { Hardware } from '../../../parts/hardware/hardware.tsx'
import { podGpus } from '../../../parts/hardware/offers.ts'
import { DataCenterField } from './data-center-field.tsx'
import type { PodText } from './pod-form.ts'

/** Hardware and location of the pod, with its cloud and CUDA versions. */
export function HardwareFields({ text, onChange, errors }: FieldsProps<PodText>) {
  const { input, check } = inputsOf(text, onChange, errors)
  return (
    <div className="flex flex-col gap-4">
      <Hardware
        product="POD"
        text={text}
        onChange={onChange}
        errors={errors}
        gpu={{
          query: { cloud: text.cloud },
          chosen: text.gpuId,
          onChoose: (gpuId) => onChange({ gpuId }),
          offersOf: (gpus, count) => podGpus(gpus, text.cloud === 'SECURE' ? 'secure' : 'community', count),
          error: errors.of('gpu.id') ?? errors.of('gpu'),
          beside: (
            <SelectField label="Cloud" {...input('cloud')}>
              <option value="SECURE">Secure</option>
              <option value="COMMUNITY">Community</option>
            </SelectField>
          ),
          below: (text.isAnyCuda || text.templateId !== '') && (
            <CheckField
              label="Any CUDA version"
              hint="Overrides the CUDA versions of the template."
              {...check('isAnyCuda', 'gpu.allowedCudaVersions')}
            />
          ),
        }}
      />
      <DataCenterField {...input('dataCenters', 'dataCenterIds')} />
    </div>
  )
}
