import { z } from 'zod'
import { Timestamp } from '../fields.ts'

export const UsedBytes = z
  .number()
  .int()
  .nullable()
  .meta({ description: 'Used bytes, measured by a host at `usedAt`; null: not measured yet.' })
export const UsedAt = Timestamp.nullable()
