import { z } from 'zod'
import { Timestamp } from '../fields.ts'

export const UsedBytes = z
  .number()
  .int()
  .nullable()
  .meta({ description: 'Bytes in it, as a host found them at `usedAt`; null: none has looked yet.' })
export const UsedAt = Timestamp.nullable()
