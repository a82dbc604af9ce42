CREATE TABLE `log_archives` (
	`kind` text NOT NULL,
	`id` text NOT NULL,
	`team_id` text NOT NULL,
	`bytes` integer NOT NULL,
	`written_at` integer NOT NULL,
	PRIMARY KEY(`kind`, `id`)
);
--> statement-breakpoint
CREATE INDEX `log_archives_team` ON `log_archives` (`team_id`,`written_at`);