import { z } from 'zod'

const usd = (description: string) => z.number().meta({ description, format: 'double' })

/** The cost of an item in a list (SPD-9). */
export const ListedSpend = z
  .object({
    perHour: usd('Current rate in USD per hour, disks included.'),
    costSoFar: usd('USD charged for its running part since it started; 0 if nothing runs.'),
  })
  .meta({ id: 'ListedSpend', description: 'Its cost. Only in lists.', example: { perHour: 0.446849, costSoFar: 2.681094 } })
export type ListedSpend = z.infer<typeof ListedSpend>
