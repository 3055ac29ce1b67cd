"""Sentences of opinions and statements of judges, each with its outcome or label."""

OPINIONS = [
    ("The judgment below is AFFIRMED.", "affirm"),
    ("For these reasons the judgment of the district court is affirmed.", "affirm"),
    ("We therefore vacate and remand.", "reverse"),
    ("We will affirm.", "affirm"),
    ("Affirmed.", "affirm"),
    ("AFFIRMED in part, REVERSED in part, and REMANDED.", "mixed"),
    ("Reversed and remanded.", "reverse"),
    ("Judgment affirmed.", "affirm"),
    ("Order reversed, on the law, without costs.", "reverse"),
    ("Appeal dismissed.", "dismiss"),
    ("The appeal is dismissed for want of jurisdiction.", "dismiss"),
    ("Conviction set aside.", "reverse"),
    ("The convictions are set aside and a new trial is ordered.", "reverse"),
    ("We affirm in part and vacate in part.", "mixed"),
    ("The order of the superior court is reversed in part.", "mixed"),
    ("The sentence is vacated, and the case is remanded for resentencing.", "reverse"),
    ("We affirm the conviction but vacate the sentence.", "mixed"),
    ("We decline to reverse. The judgment is affirmed.", "affirm"),
    ("The Court of Appeals affirmed. We granted certiorari, and now reverse.", "reverse"),
    (
        (
            "The trial court dismissed the complaint; the Court of Appeals reversed. We affirm the"
            " Court of Appeals."
        ),
        "affirm",
    ),
    (
        (
            "The judgment of the Court of Appeals is reversed, and the judgment of the trial court"
            " is affirmed."
        ),
        "reverse",
    ),
    ("Defendant asks us to reverse his conviction. We affirm.", "affirm"),
    ("The State urges that we affirm. We reverse.", "reverse"),
    (
        "If the evidence had been excluded, we would reverse. It was not. Accordingly, we affirm.",
        "affirm",
    ),
    (
        (
            "We reverse the order denying the motion and remand with instructions to affirm the"
            " agency's finding."
        ),
        "reverse",
    ),
    ("We reverse and remand with directions that the petition be dismissed.", "reverse"),
    ("The decree is hereby annulled and the cause remitted to the probate court.", "reverse"),
    ("The petition for review is denied, and we uphold the decision of the Board.", "affirm"),
    ('"We reverse," wrote the court in Smith. Here we affirm the judgment.', "affirm"),
    ("Finding no error, we affirm the judgment of conviction.", "affirm"),
    ("Because the notice was late, we lack jurisdiction and dismiss the appeal.", "dismiss"),
    ("We affirm and remand for further proceedings.", "affirm"),
    ("We affirm the convictions and remand for resentencing.", "mixed"),
    ("The appeal is allowed and the order below set aside.", "reverse"),
    (
        (
            "See State v. Doe, 1 P.2d 2 (reversing conviction). We are satisfied that the verdict"
            " stands, and affirm it."
        ),
        "affirm",
    ),
    ("We hold that the statute applies.", ""),
    ("The facts are not in dispute.", ""),
    # forms of other courts and countries
    (
        (
            "The judgment of the United States District Court for the Northern District of Illinois"
            " is AFFIRMED."
        ),
        "affirm",
    ),
    ("Accordingly, the grant of summary judgment is VACATED and the case REMANDED.", "reverse"),
    (
        "We AFFIRM the district court's dismissal of Counts I and II, but REVERSE as to Count III.",
        "mixed",
    ),
    (
        (
            "The petition for review is GRANTED, the order of removal is VACATED, and the matter"
            " REMANDED."
        ),
        "reverse",
    ),
    ("The petition for review is denied.", "affirm"),
    ("Petition denied.", "affirm"),
    ("DISMISSED.", "dismiss"),
    ("Appeal dismissed as moot.", "dismiss"),
    ("Order affirmed, with costs.", "affirm"),
    ("Ordered that the judgment is reversed, on the law, and a new trial is ordered.", "reverse"),
    ("ORDERED that the judgment is affirmed.", "affirm"),
    ("Motion denied and judgment affirmed.", "affirm"),
    ("Judgment reversed and cause remanded with directions.", "reverse"),
    (
        (
            "The circuit court's judgment is affirmed in part and reversed in part, and the cause"
            " is remanded."
        ),
        "mixed",
    ),
    (
        "For the foregoing reasons, the judgment of the circuit court of Cook County is affirmed.",
        "affirm",
    ),
    ("I would allow the appeal and restore the order of the judge.", "reverse"),
    ("I would dismiss this appeal.", "dismiss"),
    ("The appeal must be dismissed.", "dismiss"),
    ("The appeal is without merit and is dismissed.", "dismiss"),
    ("We quash the decision of the district court of appeal.", "reverse"),
    ("The decision under review is disapproved and quashed.", "reverse"),
    ("The exceptions are overruled. Judgment for the plaintiff affirmed.", "affirm"),
    ("We overrule all of appellant's issues and affirm the trial court's judgment.", "affirm"),
    ("Having overruled appellant's sole point of error, we affirm.", "affirm"),
    (
        (
            "We sustain the second issue, reverse the judgment, and render judgment that appellee"
            " take nothing."
        ),
        "reverse",
    ),
    ("It follows that the verdict cannot stand. Reversed.", "reverse"),
    ("The writ of mandate is issued; the order is vacated.", "reverse"),
    ("The judgment is modified to strike the enhancement and, as modified, is affirmed.", "mixed"),
    ("Let the writ issue.", ""),
    (
        (
            "The order denying the motion to compel arbitration is reversed. Appellants are awarded"
            " costs."
        ),
        "reverse",
    ),
    (
        (
            "We conclude that the district court did not abuse its discretion, and its judgment is"
            " AFFIRMED."
        ),
        "affirm",
    ),
    (
        "The panel majority affirmed the convictions; sitting en banc, we now vacate them.",
        "reverse",
    ),
    (
        (
            "In 2004 this court affirmed the conviction. The petition is late, and the order"
            " denying it is affirmed."
        ),
        "affirm",
    ),
    ("The Board reversed the examiner. We affirm the Board.", "affirm"),
    ("Plaintiffs appeal from the order dismissing their complaint. We reverse.", "reverse"),
    (
        (
            "This appeal concerns a motion to vacate a default judgment. We affirm the denial of"
            " that motion."
        ),
        "affirm",
    ),
    ("We find no reversible error and therefore the conviction is affirmed.", "affirm"),
    ("The motion to remand was properly denied, and we affirm.", "affirm"),
    (
        "We hold that the court erred in remanding the case, and we reverse the order of remand.",
        "reverse",
    ),
    ("The order of the trial court vacating the award is affirmed.", "affirm"),
    ("The decision of the Court of Appeals affirming the conviction is reversed.", "reverse"),
    ("The decision of the Court of Appeals reversing the judgment is affirmed.", "affirm"),
    ("The order reversing the agency is vacated.", "reverse"),
    ("Sentence vacated; remanded for resentencing; conviction affirmed.", "mixed"),
    ("Convictions affirmed; sentences vacated and remanded.", "mixed"),
    ("Since no useful purpose would be served by remand, we affirm.", "affirm"),
    ("We cannot say that the verdict was against the weight of the evidence. Affirmed.", "affirm"),
    (
        "The defendant contends that reversal is required. It is not. The judgment is affirmed.",
        "affirm",
    ),
    ("Reversal is required.", "reverse"),
    ("A new trial is required, and the judgment is set aside.", "reverse"),
    ("This cause is remanded for a new trial.", "reverse"),
    ("We must reverse.", "reverse"),
    ("We have no choice but to reverse.", "reverse"),
    ("We are constrained to affirm.", "affirm"),
    ("Affirmed and remanded.", "affirm"),
    ("Reversed.", "reverse"),
    ("All concur. Affirmed.", "affirm"),
    ("The judgment of conviction is, therefore, in all respects affirmed.", "affirm"),
    ("We answer the certified question in the negative and remand.", "reverse"),
    ("Cross-appeal dismissed; judgment affirmed.", "affirm"),
    ("We vacate the panel opinion and affirm the judgment of the district court.", "affirm"),
    ("The trial judge's decision to suppress is overturned.", "reverse"),
    (
        (
            "The decision of the Employment Appeal Tribunal is set aside and the tribunal's"
            " decision restored."
        ),
        "reverse",
    ),
]


STATEMENTS = [
    ("I believe we should AFFIRM the decision of the district court.", "AFFIRM"),
    ("I vote to affirm. Confidence: 80", "AFFIRM"),
    ("In my view the conviction should be upheld.", "AFFIRM"),
    ("The former decision should stand.", "AFFIRM"),
    ("I agree with the district court's decision to deny the motion.", "AFFIRM"),
    ("The appeal fails, and I see no error in the ruling.", "AFFIRM"),
    ("I would decline to reverse the conviction.", "AFFIRM"),
    ("I continue to support affirming the lower court.", "AFFIRM"),
    ("My decision is to AFFIRM.", "AFFIRM"),
    ("Decision: AFFIRM", "AFFIRM"),
    ("I would dismiss the appeal.", "AFFIRM"),
    ("I believe that we should reverse the conviction.", "REVERSE"),
    ("The conviction must be vacated.", "REVERSE"),
    ("My vote is to overturn the ruling.", "REVERSE"),
    ("I am leaning towards remanding the case for more fact-finding.", "REMAND"),
    ("We should send the case back to the district court.", "REMAND"),
    ("I would remand for an evidentiary hearing.", "REMAND"),
    (
        "There is a strong argument in favor of reversing, and I vote to reverse and remand.",
        "REVERSE AND REMAND",
    ),
    ("I vote to REVERSE the decision and REMAND it for further proceedings.", "REVERSE AND REMAND"),
    ("The decision should be reversed and remanded.", "REVERSE AND REMAND"),
    (
        "I maintain that the district court should have granted the motion to suppress.",
        "REVERSE OR REMAND",
    ),
    ("I cannot affirm this decision.", "REVERSE OR REMAND"),
    ("The district court erred when it ignored the patients' interests.", "REVERSE OR REMAND"),
    ("I respectfully disagree with the lower court's ruling.", "REVERSE OR REMAND"),
    ("We must ask whether to affirm or to reverse. Both sides have merit.", "NONE"),
    ("Judge 2 votes to reverse. The statute speaks of consent.", "NONE"),
    ("The appellant argues that we should reverse the conviction.", "NONE"),
    ("An important factor is the intent of the doctor, and this raises questions.", "NONE"),
    ("Should we affirm the decision?", "NONE"),
    ("If the consent form were valid, I would affirm.", "NONE"),
    ("", "NONE"),
    (
        "Initially I would have affirmed. Having heard my colleague, I now vote to reverse.",
        "REVERSE",
    ),
    ("I vote to affirm. The statute is vague, and I would reverse.", "HALLUCINATION"),
    ("While Judge 1 would reverse, I respectfully vote to affirm.", "AFFIRM"),
    ("I would affirm in part and reverse in part.", "REVERSE"),
    (
        "As Judge 1, I am inclined to affirm the lower court's ruling, since the statute is clear.",
        "AFFIRM",
    ),
    (
        (
            "Upon reflection, I find the arguments of Judge 2 compelling, and I now lean towards"
            " reversing the decision."
        ),
        "REVERSE",
    ),
    ("I stand by my earlier vote to affirm.", "AFFIRM"),
    (
        (
            "After considering the facts, I would AFFIRM the district court's decision. My"
            " confidence is 85."
        ),
        "AFFIRM",
    ),
    ("My position remains unchanged: reverse and remand.", "REVERSE AND REMAND"),
    (
        (
            "I respectfully dissent from my colleagues who would affirm. The decision ought to be"
            " reversed."
        ),
        "REVERSE",
    ),
    ("I join Judge 2 in affirming the decision.", "AFFIRM"),
    ("I concur with Judge 3 that we should reverse.", "REVERSE"),
    ("I agree with the Human Judge that the decision must be affirmed.", "AFFIRM"),
    ("Judge 3's argument for reversal does not persuade me; I would affirm.", "AFFIRM"),
    ("I do not agree with Judge 1 that we should reverse. The ruling was correct.", "AFFIRM"),
    ("The court should remand the case.", "REMAND"),
    ("Therefore, the best course is to remand for further proceedings.", "REMAND"),
    ("The appellate court should affirm the decision of the lower court.", "AFFIRM"),
    ("**AFFIRM**. The statute is clear.", "AFFIRM"),
    ("Vote: REVERSE", "REVERSE"),
    ("I see merit on both sides and am undecided.", "NONE"),
    ("It would be wrong to reverse.", "AFFIRM"),
    ("There is no basis to overturn the conviction.", "AFFIRM"),
    ("I would not affirm.", "REVERSE OR REMAND"),
    ("I am not persuaded that reversal is warranted.", "AFFIRM"),
    ("It is not clear whether the ruling should be affirmed.", "NONE"),
    ("The case presents difficult questions about privacy and consent.", "NONE"),
    ("The prisoner's claim should not have been dismissed.", "REVERSE OR REMAND"),
    ("I would let the conviction stand.", "AFFIRM"),
    ("I oppose affirming this decision.", "REVERSE OR REMAND"),
    ("The district court was right to dismiss the case.", "AFFIRM"),
    ("The conviction violates due process and cannot stand.", "REVERSE OR REMAND"),
    ("I therefore reject the appeal.", "AFFIRM"),
    ("I side with the appellant.", "REVERSE OR REMAND"),
    ("I believe the decision should be affirmed, because the doctor knew.", "AFFIRM"),
    ("I'd vote to affirm.", "AFFIRM"),
    ("I’m inclined to reverse.", "REVERSE"),
    ("We should not disturb the judgment.", "AFFIRM"),
    ("I recommend reversal.", "REVERSE"),
    ("I recommend that the decision be vacated and the case remanded.", "REVERSE AND REMAND"),
    ("Let us affirm.", "AFFIRM"),
    ("I propose that we affirm.", "AFFIRM"),
    ("The motion to dismiss should be granted.", "NONE"),
]


# Positions without the name of a remedy, and words that only resemble them.
IMPLIED = [
    ("I believe the conviction should stand.", "AFFIRM"),
    ("I agree with the lower court's decision to deny the motion.", "AFFIRM"),
    ("I believe that the conviction should stand because the evidence was sufficient.", "AFFIRM"),
    ("I concur in the lower court's decision to deny relief.", "AFFIRM"),
    ("The lower court's decision should stand.", "AFFIRM"),
    (
        "I therefore agree with the lower court's decision to deny the prisoner's petition.",
        "AFFIRM",
    ),
    ("I support the lower court's ruling.", "AFFIRM"),
    ("I would uphold the denial.", "AFFIRM"),
    ("The district court got it right.", "AFFIRM"),
    ("In my opinion the lower court reached the correct result.", "AFFIRM"),
    ("I agree with the decision of the district court.", "AFFIRM"),
    ("I stand with the lower court.", "AFFIRM"),
    ("The lower court's ruling was correct, and I agree with it.", "AFFIRM"),
    ("I see no reason to disturb the verdict.", "AFFIRM"),
    ("I side with the district court on this matter.", "AFFIRM"),
    ("I am in favor of upholding the conviction.", "AFFIRM"),
    ("The judgment below ought to stand.", "AFFIRM"),
    ("I vote in favor of the appellee.", "AFFIRM"),
    ("I would deny the appeal.", "AFFIRM"),
    ("The appeal should be denied.", "AFFIRM"),
    ("I think the conviction is valid and should remain.", "AFFIRM"),
    ("I agree with Judge 1 that the conviction should stand.", "AFFIRM"),
    ("My view is that the trial court's decision was justified.", "AFFIRM"),
    ("The appeal must fail.", "AFFIRM"),
    ("I believe the conviction should not stand.", "REVERSE OR REMAND"),
    ("I disagree with the lower court's decision to deny the motion.", "REVERSE OR REMAND"),
    ("I do not agree with the lower court's decision to deny the motion.", "REVERSE OR REMAND"),
    ("The conviction cannot stand.", "REVERSE OR REMAND"),
    ("I do not believe the conviction should stand.", "REVERSE OR REMAND"),
    ("The lower court's decision should not stand.", "REVERSE OR REMAND"),
    ("I cannot agree with the trial court.", "REVERSE OR REMAND"),
    ("The district court got it wrong.", "REVERSE OR REMAND"),
    ("I would grant the appeal.", "REVERSE OR REMAND"),
    ("The appeal should be granted.", "REVERSE OR REMAND"),
    ("I side with the appellant.", "REVERSE OR REMAND"),
    ("The question is whether the conviction should stand.", "NONE"),
    ("The State argues that the conviction should stand.", "NONE"),
    ("Judge 2 agrees with the lower court's decision to deny.", "NONE"),
    ("If the search was lawful, the conviction should stand.", "NONE"),
    ("I agree with the lower court's decision to deny? That depends on the facts.", "NONE"),
    ("I agree with Judge 1 that the lower court's decision to deny raises questions.", "NONE"),
    ("We must consider the lower court's decision to deny the motion.", "NONE"),
    ("The appellee believes the conviction should stand.", "NONE"),
    ("Some may agree with the lower court's decision.", "NONE"),
    ("I agree with the appellant that the decision of the lower court lacks detail.", "NONE"),
    ("The lower court's decision to deny the motion was appealed.", "NONE"),
    ("Should the conviction stand?", "NONE"),
    ("One could agree with the lower court.", "NONE"),
    ("The dissent would agree with the lower court.", "NONE"),
    (
        "Having weighed the record, I still concur with the district court's denial of the motion.",
        "AFFIRM",
    ),
    ("The ruling below should remain undisturbed.", "AFFIRM"),
    ("I would side with the trial court here.", "AFFIRM"),
    ("In sum, the conviction ought to stand.", "AFFIRM"),
    ("I agree with my colleagues that the conviction must stand.", "AFFIRM"),
    ("The lower court got this right when it excluded the tapes.", "AFFIRM"),
    ("I support the decision of the court below.", "AFFIRM"),
    ("The trial court's judgment is sound.", "AFFIRM"),
    ("I must agree with the lower court.", "AFFIRM"),
    ("We should leave the verdict intact.", "AFFIRM"),
    ("I find for the appellee.", "AFFIRM"),
    ("The appeal must be rejected.", "AFFIRM"),
    ("I cannot concur with the ruling.", "REVERSE OR REMAND"),
    ("I do not think the conviction should stand.", "REVERSE OR REMAND"),
    ("I find for the appellant.", "REVERSE OR REMAND"),
    ("The appeal ought to be granted.", "REVERSE OR REMAND"),
    ("I don't agree with the district court.", "REVERSE OR REMAND"),
    ("I agree with Judge 2 on the point of consent.", "NONE"),
    ("Judge 1 agrees with the lower court.", "NONE"),
    ("It is unclear whether the ruling should remain.", "NONE"),
    ("The appellant does not agree with the ruling.", "NONE"),
    ("I agree with my colleagues that this is a hard case.", "NONE"),
    ("The State supports the decision of the trial court.", "NONE"),
    ("I do not agree with Judge 3.", "NONE"),
    ("If we agree with the lower court, patients lose.", "NONE"),
]
