CREATE TABLE `budgets` (
	`team_id` text PRIMARY KEY NOT NULL,
	`bounds` text NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
ALTER TABLE `endpoints` ADD `granted_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `allocations_team` ON `allocations` (`team_id`);