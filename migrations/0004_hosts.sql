ALTER TABLE `hosts` ADD `cloud` text DEFAULT 'SECURE' NOT NULL;--> statement-breakpoint
ALTER TABLE `hosts` ADD `cordoned_at` integer;--> statement-breakpoint
ALTER TABLE `hosts` ADD `cordon_reason` text;--> statement-breakpoint
ALTER TABLE `hosts` ADD `cordon_by` text;--> statement-breakpoint
ALTER TABLE `hosts` ADD `draining` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `hosts` ADD `public_ip` text;--> statement-breakpoint
ALTER TABLE `hosts` ADD `lost_at` integer;--> statement-breakpoint
ALTER TABLE `hosts` ADD `gpu_problems` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `join_tokens` ADD `id` text;--> statement-breakpoint
ALTER TABLE `join_tokens` ADD `cloud` text DEFAULT 'SECURE' NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `join_tokens_id` ON `join_tokens` (`id`);--> statement-breakpoint
CREATE INDEX `join_tokens_expiry` ON `join_tokens` (`expires_at`);