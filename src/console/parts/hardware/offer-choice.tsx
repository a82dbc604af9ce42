import { useState } from 'react'
import { Button } from '../button.tsx'
import { money } from '../format.ts'
import { Level } from '../level.tsx'
import { Table } from '../table.tsx'
import type { Offer } from './offers.ts'

interface OfferChoiceProps {
  caption: string
  offers: readonly Offer[]
  chosen: string
  onChoose: (id: string) => void
}

/** Offers with free capacity; a button shows the others. */
export function OfferChoice({ caption, offers, chosen, onChoose }: OfferChoiceProps) {
  const [isWhole, setIsWhole] = useState(false)
  const free = offers.filter(({ level }) => level !== 'NONE')
  const shown = isWhole
    ? [...free, ...offers.filter((offer) => !free.includes(offer))]
    : offers.filter((offer) => free.includes(offer) || offer.id === chosen)
  return (
    <>
      {shown.length === 0 ? (
        <p className="text-soft">No hardware of this size is free now.</p>
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
                  <input type="radio" name="hardware" className="size-4 shrink-0" checked={id === chosen} onChange={() => onChoose(id)} />
                  {name}
                </label>
              ),
            },
            {
              title: 'Memory',
              isMinor: true,
              isNumber: true,
              show: ({ memoryGb }) => <span className="whitespace-nowrap">{memoryGb} GB</span>,
            },
            { title: 'Available', show: ({ level }) => <Level level={level} /> },
            { title: 'Per hour', isNumber: true, show: ({ perHour }) => money(perHour) },
          ]}
        />
      )}
      {free.length < offers.length && (
        <div>
          <Button kind="quiet" aria-expanded={isWhole} onClick={() => setIsWhole(!isWhole)}>
            {isWhole ? 'Show only available types' : `Show all ${offers.length} types`}
          </Button>
        </div>
      )}
    </>
  )
}
