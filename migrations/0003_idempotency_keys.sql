CREATE TABLE `idempotency_keys` (
	`team_id` text NOT NULL,
	`operation` text NOT NULL,
	`key` text NOT NULL,
	`claim` text NOT NULL,
	`fingerprint` text NOT NULL,
	`claimed_at` integer NOT NULL,
	`response` text,
	PRIMARY KEY(`team_id`, `operation`, `key`),
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_claimed` ON `idempotency_keys` (`claimed_at`);