package command

func notificationService() finding {
	return finding{"notifications", fine, "the system's", ""}
}

func sandboxFinding() finding {
	return finding{"sandbox", fine, "Job Objects with a restricted token", ""}
}
